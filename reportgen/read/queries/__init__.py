"""Queries of tables that were read: one value per step, one score per problem, the texts of answers."""
