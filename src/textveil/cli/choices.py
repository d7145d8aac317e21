"""The choices of options, as the command line shows and checks them. tests/unit/cli holds them against the rooms.

They are repeated here because reading them from the rooms would load numpy and torch to print a help text.
"""

from __future__ import annotations

from enum import StrEnum


class BudgetAdjacency(StrEnum):
    ADD_REMOVE = "add_remove"
    REPLACE = "replace"
    ZERO_OUT = "zero_out"


class Case(StrEnum):
    SENTENCE = "sentence"
    DROP = "drop"
    KEEP = "keep"


class Oov(StrEnum):
    DRAW = "draw"
    TOKEN = "token"


class Nulls(StrEnum):
    KEEP = "keep"
    REFUSE = "refuse"


class Quotes(StrEnum):
    DOUBLED = "doubled"
    BACKSLASH = "backslash"
    NONE = "none"


class Engine(StrEnum):
    LOCAL = "local"
    RAY = "ray"


class Distance(StrEnum):
    EUCLIDEAN = "euclidean"
    ANGULAR = "angular"
    HAMMING = "hamming"


class UtilityLoss(StrEnum):
    CHANGED = "changed"
    EUCLIDEAN = "euclidean"
    SENTIMENT = "sentiment"


class InferenceError(StrEnum):
    CHANGED = "changed"
    EUCLIDEAN = "euclidean"


class Adversary(StrEnum):
    SAMPLING = "sampling"
    OPTIMAL = "optimal"


class WordPrior(StrEnum):
    PUBLIC = "public"
    UNIFORM = "uniform"
    EMPIRICAL = "empirical"


class Grouping(StrEnum):
    RANDOM = "random"
    FREQUENCY = "frequency"
    CLUSTER = "cluster"
    DISPERSE = "disperse"


class BudgetRule(StrEnum):
    TOTAL = "total"
    PAPER = "paper"


class CountsPrior(StrEnum):
    NOISY = "noisy"
    UNIFORM = "uniform"
    VECTORS = "vectors"


class SealMode(StrEnum):
    QUIET = "quiet"
    PAPER = "paper"


class SealLaw(StrEnum):
    KERNEL = "kernel"
    GAUSSIAN = "gaussian"


class Widen(StrEnum):
    SENTENCE = "sentence"
    NONE = "none"


class SoundUnit(StrEnum):
    PARAGRAPH = "paragraph"
    DOCUMENT = "document"


class SoundMethod(StrEnum):
    DESCENT = "descent"
    OUTPUT = "output"


class TrainUnit(StrEnum):
    EXAMPLE = "example"
    USER = "user"


class PriceUnit(StrEnum):
    EXAMPLE = "example"
    DOCUMENT = "document"
    USER = "user"


class Optimiser(StrEnum):
    ADAMW = "adamw"
    SGD = "sgd"


class TaggerOutput(StrEnum):
    CRF = "crf"
    SOFTMAX = "softmax"


class VocabMethod(StrEnum):
    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    POLICY = "policy"
    PAPER = "paper"


class LmVocabMethod(StrEnum):
    GAUSSIAN = "gaussian"
    POLICY = "policy"


class Accountant(StrEnum):
    BEST = "best"
    PLD = "pld"
    RDP = "rdp"
    RDP_CLASSIC = "rdp-classic"
    EXACT = "exact"


class ModelKind(StrEnum):
    LM = "lm"
    CLASSIFIER = "classifier"
    TAGGER = "tagger"


class CanaryForm(StrEnum):
    HS = "HS"
    HSH = "HSH"
    HHSHH = "HHSHH"
    RANDOM = "random"


class VectorType(StrEnum):
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    INT8 = "int8"


class Scale(StrEnum):
    SMALL = "small"
    FULL = "full"


class ReviewExport(StrEnum):
    JSONL = "jsonl"
    SPANS = "spans"
    BIO = "bio"
    SPACY = "spacy"
    LABEL_STUDIO = "label-studio"


class MaskHow(StrEnum):
    REDACT = "redact"
    TAG = "tag"
    HASH = "hash"
    PSEUDONYM = "pseudonym"


class MaskNumbers(StrEnum):
    INVALID = "invalid"
    VALID = "valid"


class AnnotationOutput(StrEnum):
    SPANS = "spans"
    BIO = "bio"


class ScoreScheme(StrEnum):
    PAPER = "paper"
    SEMEVAL = "semeval"


class TaggerKind(StrEnum):
    CRF = "crf"
    BILSTM = "bilstm"
    TRANSFORMER = "transformer"


class LabelNoise(StrEnum):
    CHANNEL = "channel"
    IGNORE = "ignore"


class Cut(StrEnum):
    OVERLAPPING = "overlapping"
    APART = "apart"


class DropBy(StrEnum):
    OCCURRENCE = "occurrence"
    TYPE = "type"


class Symmetry(StrEnum):
    UNION = "union"
    INTERSECTION = "intersection"
    GROW_DIAG = "grow-diag"
    GROW_DIAG_FINAL = "grow-diag-final"
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"


class Aligner(StrEnum):
    BUILT_IN = "built-in"
    HMM = "hmm"
    EFLOMAL = "eflomal"


class Tokens(StrEnum):
    BLANKS = "blanks"
    WORDS = "words"


class TrustName(StrEnum):
    DEALER = "dealer"
    THREE = "three"
    TWO = "two"


class ClassifierKind(StrEnum):
    PAPER = "paper"
    WIDE = "wide"
    SQUARE = "square"
    LINEAR = "linear"


class ClassifierInputs(StrEnum):
    SENTENCE = "sentence"
    PIECES = "pieces"
    WORDS = "words"


class Strategy(StrEnum):
    FEDAVG = "fedavg"
    FEDSGD = "fedsgd"
    DP_FEDAVG = "dp-fedavg"
    DP_FTRL = "dp-ftrl"
    REMOTE = "remote"
    CENTRAL = "central"


class LocalWork(StrEnum):
    SGD = "sgd"
    MOMENTUM = "momentum"
    ADAM = "adam"
    DP_SGD = "dp-sgd"
    TEXTHIDE = "texthide"


class HidingScheme(StrEnum):
    INTRA = "intra"
    INTER = "inter"


class RoundSampling(StrEnum):
    POISSON = "poisson"
    FIXED = "fixed"


class Clipping(StrEnum):
    FLAT = "flat"
    PER_LAYER = "per-layer"
    ADAPTIVE = "adaptive"


class UnitWeights(StrEnum):
    EQUAL = "equal"
    CAPPED = "capped"
    EXAMPLES = "examples"


class ServerStepKind(StrEnum):
    AVERAGE = "average"
    MOMENTUM = "momentum"
    ADAM = "adam"


class Split(StrEnum):
    NATURAL = "natural"
    IID = "iid"
    BLOCKS = "blocks"
    LABELS = "labels"


class KeyKind(StrEnum):
    SERVER = "server"
    SITE = "site"


class ServedUnit(StrEnum):
    SITE = "site"
    USER = "user"
