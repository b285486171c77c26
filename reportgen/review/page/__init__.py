"""``review.html`` and the pictures of a review, drawn from the numbers of ``review.json`` alone."""
