"""Pages for a browser: what happened in a run, and what the runs of an experiment come to.

Each is one HTML document that loads nothing from elsewhere. What a container or an agent has said
stands in it as text: templates escape all that they are given, and the policy in the document's
head lets no script run but the page's own.
"""
