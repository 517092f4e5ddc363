# A login shell begins with another PATH; the environment of the image is for it, too.
PATH=/opt/venv/bin:$PATH
