"""How well optimizers spend evaluations: COCO's problems, peers, and the area under the runtime curve."""
