"""Makes planning cases from catalogues of our own: tools, requests in English and Chinese, and the right decision."""
