"""What nanwatch.torch is made of; only it imports this.

`optimizers` and `scaling` make an Update of a step, `modules` the rows of what
goes through modules. Their numbers are on a `readout`, copied behind what made
them, and read by a later step where a GPU has them. `telling` makes records of
them, a step's ops before its step.
"""
