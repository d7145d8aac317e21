"""Federated training on Flower: plans and their prices, local steps, clipping, the round loop, ServerApp and ClientApp.

Names are loaded when they are asked for; torch and Flower only where they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .book import (
        AccountBook as AccountBook,
        Book as Book,
        FreeBook as FreeBook,
    )
    from .client import (
        ClientSetup as ClientSetup,
        make_client_app as make_client_app,
    )
    from .estimators import (
        DPFTRL as DPFTRL,
        Central as Central,
        DPFedAvg as DPFedAvg,
        FedAvg as FedAvg,
        FedSGD as FedSGD,
        Remote as Remote,
    )
    from .in_process import InProcessGrid as InProcessGrid
    from .local import (
        LocalGradient as LocalGradient,
        LocalStep as LocalStep,
        LocalTraining as LocalTraining,
        LocalUpdate as LocalUpdate,
    )
    from .messages import (
        Code as Code,
        ServerView as ServerView,
    )
    from .plan import (
        RoundPlan as RoundPlan,
        calibrated as calibrated,
    )
    from .rounds import (
        Federation as Federation,
        Roster as Roster,
        run_rounds as run_rounds,
    )
    from .server import make_server_app as make_server_app
    from .server_step import ServerStep as ServerStep
    from .stacked import StackedTraining as StackedTraining
    from .state import RoundState as RoundState
    from .texthide import TextHide as TextHide
    from .task import (
        NetTask as NetTask,
        SavedNet as SavedNet,
        Task as Task,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "book": "AccountBook Book FreeBook",
            "client": "ClientSetup make_client_app",
            "estimators": "Central DPFTRL DPFedAvg FedAvg FedSGD Remote",
            "in_process": "InProcessGrid",
            "local": "LocalGradient LocalStep LocalTraining LocalUpdate",
            "messages": "Code ServerView",
            "plan": "RoundPlan calibrated",
            "rounds": "Federation Roster run_rounds",
            "server": "make_server_app",
            "server_step": "ServerStep",
            "stacked": "StackedTraining",
            "state": "RoundState",
            "texthide": "TextHide",
            "task": "NetTask SavedNet Task",
        },
    )
