"""Every import path that release 0.1.0 documented still imports: what moves is re-exported."""

import importlib

import pytest

PATHS = {
    "askwhen": """
        AdaptiveMarginRule Always Ask AskwhenError AsyncClient Audit AutoLasec BBQRule BatchClassifier
        BudgetPerceptron BudgetRule Client FixedRate FocusedRule Gaussian InputError Kernel Lasec LeastSquares
        Linear MarginRule Mixture ModifiedPerceptron MultiLabel OneVsRest OnlineToBatchClassifier
        PNormPerceptron PassiveAggressive PassiveAggressive1 PassiveAggressive2 Perceptron Polynomial Prepare
        QuestionError Sampler SecondOrderPerceptron SelectiveClassifier SelectiveRegressor ShiftingPerceptron
        SideBySide SnapshotError SwitchDetector Trace Winnow data evaluate keyed online_to_batch paper
        paper_letters paper_names warm
    """,
    "askwhen.adapters.river": "RiverSampler SelectiveClassifier",
    "askwhen.adapters.sklearn": "priced",
    "askwhen.checks": "check_drift check_learner check_rule",
    "askwhen.cli.main": "main",
    "askwhen.contracts.drift": "Drift absorb_label begin has_room_for take_due watch watches window_period",
    "askwhen.contracts.learner": """
        LARGEST_COUNT Learner UPDATED arrive best_class enter epoch experts grow hear is_sound learn learns
        leave note_experts open_class quadratic quadratic_bound ready restart scale score weights widen
        write_margins
    """,
    "askwhen.contracts.rule": """
        Rule begin_round decide end_round forbids last_time least_chance note_class note_label note_update
        period_length probability restart_rule toss
    """,
    "askwhen.data": """
        Data Stream drifting hash_text load names noisy_linear read regrouped spherical switching zipf_text
    """,
    "askwhen.data.sets": "",
    "askwhen.errors": "CacheWarning",
    "askwhen.evaluate": """
        Accuracy Alarm Cell ClassAccuracy Comparison Cost Curve Difference Estimate Needed Progress Scores
        Tried accuracy accuracy_curve alarm best_linear best_linear_by_segment bounds compare order_warning
        progressive tune
    """,
    "askwhen.evaluate.agreement": "cohen coincidences from_coincidences krippendorff",
    "askwhen.evaluate.bounds": """
        corollary_8 corollary_9 corollary_9_a corollary_c corollary_holds expected_questions hinge_loss
        hinge_losses hold_out lasec lasec_ss lasec_ss_a lemma_7 progressive_validation sel_2nd sel_2nd_b
        sel_ada sel_p sel_p_b sel_winnow sel_winnow_tuning total_drift
    """,
    "askwhen.keyed": "Counts CutOffError Played StoreError partition_of run sampler seed_of",
    "askwhen.linalg.vectors": """
        LARGEST NO_DIRECTION add_four_rows add_row add_scaled all_finite all_within as_vector clear
        combine_rows dot has_room inner is_zero lines_of_zeros look measure set_row shrink spread total
        unspread
    """,
    "askwhen.report": "picture write_comparison write_run",
    "askwhen.service.client": "AsyncStream Decision Stream",
    "askwhen.service.errors": """
        ConflictError NotAllowedError NotFoundError NotSignedInError ServiceError UnreachableError
    """,
}


@pytest.mark.parametrize("module", PATHS)
def test_documented_paths_of_the_first_release_import(module):
    found = importlib.import_module(module)
    assert [name for name in PATHS[module].split() if not hasattr(found, name)] == []
