"""Episodes that others have played and published, played again here and judged anew."""
