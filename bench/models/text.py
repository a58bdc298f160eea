"""Sequence models: transformers' own classes with random weights from a config, no dropout."""

from typing import Any

import torch
import transformers
from torch import Tensor, nn

from bench.models.base import Size, Task, token_loss, tokens


def _logits(module: nn.Module, ids: Tensor, *_: Any) -> Tensor:
    return module(input_ids=ids, use_cache=False).logits


def _bert_logits(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    return module(input_ids=ids, attention_mask=mask).logits


def bert(size: Size) -> Task:
    """BERT with a masked-language head; the last quarter of the second row is padding."""
    config = transformers.BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
        max_position_embeddings=size.length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    mask = torch.ones(size.batch, size.length, dtype=torch.int64)
    mask[1, -(size.length // 4) :] = 0
    inputs = (tokens(size), mask)
    return Task(transformers.BertForMaskedLM(config), inputs, _bert_logits, token_loss)


def gpt2(size: Size) -> Task:
    """GPT-2 with its language-model head."""
    config = transformers.GPT2Config(
        vocab_size=size.vocabulary,
        n_positions=size.length,
        n_embd=size.width,
        n_layer=size.layers,
        n_head=size.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return Task(transformers.GPT2LMHeadModel(config), (tokens(size),), _logits, token_loss)


def llama(size: Size) -> Task:
    """Llama: RMS norm, rotary embedding, gated MLP, grouped keys and values."""
    config = transformers.LlamaConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        intermediate_size=3 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads // 2,
        max_position_embeddings=size.length,
    )
    return Task(transformers.LlamaForCausalLM(config), (tokens(size),), _logits, token_loss)


def _t5_logits(module: nn.Module, ids: Tensor, *_: Any) -> Tensor:
    return module(input_ids=ids, decoder_input_ids=ids, use_cache=False).logits


def t5(size: Size) -> Task:
    """T5, encoder and decoder of half the layers each."""
    config = transformers.T5Config(
        vocab_size=size.vocabulary,
        d_model=size.width,
        d_kv=size.width // size.heads,
        d_ff=4 * size.width,
        num_layers=size.layers // 2,
        num_heads=size.heads,
        dropout_rate=0.0,
    )
    module = transformers.T5ForConditionalGeneration(config)
    return Task(module, (tokens(size),), _t5_logits, token_loss)
