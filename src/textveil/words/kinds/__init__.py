"""Numbers, dates and codes, drawn within their kind (`kinds=True` of a word mechanism).

A number that becomes a word, or a date that becomes a name, is of no use. With `kinds=True` such words are recognised by
their form alone and drawn among those of the same form, each kind by a mechanism and a metric of its own:

    numbers   as many digits; a step is a tenth of the range that so many digits span        (numbers.py)
    dates     as they are written; a step is 365 days, within 1900 to 2099 or one century     (dates.py)
    codes     letters for letters, digits for digits; a step is one character                 (codes.py)

The metric of the release. d(a, b) is the distance of the word mechanism between two plain words, `ratio` times the distance
above between two words of one kind and form, where ratio = kinds_epsilon / epsilon, and infinite across kinds and forms:
then one epsilon is true of all of them, since epsilon * ratio = kinds_epsilon. It is a metric (the triangle inequality
holds within each kind and form, and infinity on one side of it means infinity on the other) with a name and an
identity of its own: "hamming+kinds".

What passes: which places hold a number, a date or a code, and their form. Whether a word is one of them is a function of
the word, so two words of different kinds are told apart with certainty.
"""
