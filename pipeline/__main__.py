"""`python -m pipeline` is `minimex`, except that Python puts the working directory first on its path."""

from pipeline.app import main

if __name__ == "__main__":
    main()
