"""Small models that are trained for a few steps: transformers' classes with random weights, and
recurrent cells and a mixture of experts written by hand. Each is a module with `loss(*inputs)`."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.models import MODELS, SIZES


class Subject(nn.Module):
    """A model of ours with its inputs."""

    inputs: Sequence[Tensor]

    def loss(self, *inputs: Tensor) -> Tensor:
        raise NotImplementedError


class LstmCell(nn.Module):
    """A long short-term memory cell."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(features + hidden, 4 * hidden)

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        h, c = state
        i, f, g, o = self.gates(torch.cat([x, h], -1)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class GruCell(nn.Module):
    """A gated recurrent unit."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.of_x = nn.Linear(features, 3 * hidden)
        self.of_h = nn.Linear(hidden, 3 * hidden)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        xr, xz, xn = self.of_x(x).chunk(3, -1)
        hr, hz, hn = self.of_h(h).chunk(3, -1)
        z = (xz + hz).sigmoid()
        n = (xn + (xr + hr).sigmoid() * hn).tanh()
        return (1 - z) * n + z * h


class Recurrent(Subject):
    """A cell over the steps of a sequence; its last state predicts the sums of the features."""

    def __init__(self, cell: type[nn.Module]) -> None:
        super().__init__()
        self.cell = cell(6, 16)
        self.head = nn.Linear(16, 6)
        self.lstm = cell is LstmCell
        self.inputs = [torch.randn(8, 10, 6)]

    def loss(self, x: Tensor) -> Tensor:
        h, c = x.new_zeros(len(x), 16), x.new_zeros(len(x), 16)
        for step in x.unbind(1):
            if self.lstm:
                h, c = self.cell(step, (h, c))
            else:
                h = self.cell(step, h)
        return F.mse_loss(self.head(h), x.sum(1).tanh())


class Experts(Subject):
    """Each token goes to the best two of four experts, weighted by the router."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.router = nn.Linear(16, 4)
        self.up = nn.Parameter(torch.randn(4, 16, 32) * 0.2)
        self.down = nn.Parameter(torch.randn(4, 32, 16) * 0.2)
        self.inputs = [torch.randn(3, 12, 16)]

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.norm(x).flatten(0, 1)
        weights, chosen = self.router(tokens).softmax(-1).topk(2, -1)
        share = torch.zeros(len(tokens), 4).scatter(1, chosen, weights / weights.sum(-1, True))
        hidden = F.silu(torch.einsum("td,edh->eth", tokens, self.up))
        out = torch.einsum("eth,ehd,te->td", hidden, self.down, share)
        balance = (share.mean(0) ** 2).sum()
        return x + out.view_as(x) + balance

    def loss(self, x: Tensor) -> Tensor:
        return F.smooth_l1_loss(self(x), x.flip(-1))


class WhisperEncoder(Subject):
    """The encoder of transformers' Whisper on log-mel frames."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import WhisperConfig
        from transformers.models.whisper.modeling_whisper import WhisperEncoder as Encoder

        config = WhisperConfig(
            d_model=32,
            encoder_layers=2,
            encoder_attention_heads=4,
            encoder_ffn_dim=64,
            num_mel_bins=16,
            max_source_positions=24,
            dropout=0.0,
            attention_dropout=0.0,
            activation_dropout=0.0,
            encoder_layerdrop=0.0,
            vocab_size=64,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
        self.encoder = Encoder(config)
        self.head = nn.Linear(32, 16)
        self.inputs = [torch.randn(2, 16, 48)]

    def loss(self, mel: Tensor) -> Tensor:
        frames = self.head(self.encoder(mel).last_hidden_state)
        return F.mse_loss(frames, mel[..., ::2].mT)


OWN: dict[str, Callable[[], Subject]] = {
    "lstm": lambda: Recurrent(LstmCell),
    "gru": lambda: Recurrent(GruCell),
    "experts": Experts,
    "whisper": WhisperEncoder,
}
BENCH = ("bert", "gpt2", "t5", "llama", "vit", "convnext", "resnet")
NAMES = (*BENCH, *OWN)
FAST = ("lstm", "gru", "experts")
"""Trained in every test run; the others take longer."""


def build(name: str) -> nn.Module:
    """A model of seeded weights, in training mode, without dropout."""
    torch.manual_seed(0)
    model = OWN[name]() if name in OWN else MODELS[name](SIZES["tiny"])
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    if any(isinstance(module, nn.BatchNorm2d) for module in model.modules()):
        model.inputs = [_batch(x, 16) for x in model.inputs]
    return model.train()


def _batch(x: Tensor, size: int) -> Tensor:
    """Other inputs of that many samples.

    Statistics of two elements, as the last stage would have of two samples, are chaotic: eager
    leaves its own path within four steps when its weights are off by 1e-7.
    """
    if x.is_floating_point():
        return torch.randn(size, *x.shape[1:])
    return torch.randint(0, int(x.max()) + 1, (size, *x.shape[1:]))
