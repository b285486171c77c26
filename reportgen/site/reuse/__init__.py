"""What a build takes from earlier builds instead of making it again."""
