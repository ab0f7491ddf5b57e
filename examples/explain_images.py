"""Which pixels made a network name this digit, and what does it see where they are hidden?"""

import sys

import lexplain as lx
from lexplain.features import Patches
from lexplain.report import image_grid, imputation_grid

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
data = lx.load_data("sp_digits", seed=0)  # a digit in one panel, shuffled pixels of another in the other
explainer = lx.Explainer(features=Patches(1), keep=0.15, epochs=epochs)
explainer.fit(data.train.x, data.train.y)

explanation = explainer.explain(data.test.x)
right = (explanation.mask.numpy() & data.test.truth).sum() / explanation.mask.sum().item()
print(f"accuracy from 15 % of the pixels: {explainer.score(data.test.x, data.test.y):.2f}")
print(f"share of them in the panel that decides: {right:.2f}")

image_grid(explanation, rows=4, truth=data.test.truth).savefig("images.png")
imputation_grid(explainer, data.test.x[0]).savefig("imputed.png")
print("images.png shows what was kept, imputed.png what the hidden pixels were drawn as")
