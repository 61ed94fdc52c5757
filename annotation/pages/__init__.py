"""What pages of annotation show, as plain values for their templates."""
