"""What a campaign's agreement becomes: a page, files, charts, and the appendix of a paper."""
