"""The labelling service: instances in, questions out, answers never lost.

The log is the truth: what happened on a stream, in order. Questions, agreement and the model follow from it.
"""
