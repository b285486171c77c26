"""``review.html`` and the pictures of a review, drawn from the numbers of ``review.json`` alone."""

from reportgen.review.page.document import write_page
from reportgen.review.page.pictures import draw_pictures

__all__ = ["draw_pictures", "write_page"]
