"""The rejected rows on the page of an import: shown, downloaded, corrected and loaded."""
