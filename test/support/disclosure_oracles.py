"""What others say of cells and of published rows: reads a JSON object on stdin and writes the answers.

acro: which cells are safe, by the threshold and the p-ratio of acro (https://pypi.org/project/acro/).
bounds: how closely a contributor of a cell can bound another one from above, by linear programming.
"""
import json
import logging
import sys

import numpy
import pandas
from acro import ACRO
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

asked = json.load(sys.stdin)


def unsafe_cells(min_contributors, p_percent, cells):
    """The numbers of the cells that acro would suppress. A cell is a list of contributions."""
    logging.disable(logging.INFO)
    session = ACRO(suppress=False)
    # No share of the two largest is too large: the rule has no such part.
    session.config.update(safe_threshold=min_contributors, safe_pratio_p=p_percent / 100, safe_nk_k=2)
    rows = [(number, tokens) for number, cell in enumerate(cells) for tokens in cell]
    table = pandas.DataFrame(rows, columns=['cell', 'tokens'])
    everywhere = pandas.Series('all', index=table.index, name='all')
    session.crosstab(table.cell, everywhere, values=table.tokens, aggfunc='sum')
    outcome = session.results.get_index(-1).outcome['all']
    return [int(number) for number, said in outcome.items() if said != 'ok']


def highest(date):
    """For each cell the most that its largest contributor can have, as far as the second largest can tell.

    She knows all rows of the date, what she has of each model herself, what belongs to nobody, and that no contribution
    is negative.
    """
    parts, rows = date['parts'], date['cells']
    row_of = {model: number for number, cell in enumerate(rows) for model in cell['models']}
    numbers = [row_of[part['model']] for part in parts]
    sums = coo_matrix((numpy.ones(len(parts)), (numbers, range(len(parts)))), shape=(len(rows), len(parts))).tocsr()
    totals = [cell['tokens'] for cell in rows]
    answers = []
    for number in range(len(rows)):
        owned = {}
        for part, row in zip(parts, numbers):
            if row == number and part['contributor'] != 'exempt':
                owned[part['contributor']] = owned.get(part['contributor'], 0) + part['tokens']
        ranked = sorted(owned, key=lambda each: -owned[each])
        if len(ranked) == 0:
            continue
        known = {'exempt', *ranked[1:2]}
        bounds = [(part['tokens'],) * 2 if part['contributor'] in known else (0, None) for part in parts]
        aim = [-1.0 if row == number and part['contributor'] == ranked[0] else 0.0 for part, row in zip(parts, numbers)]
        found = linprog(aim, A_eq=sums, b_eq=totals, bounds=bounds, method='highs')
        assert found.status == 0, found.message
        answers.append({'largest': owned[ranked[0]], 'highest': -found.fun})
    return answers


json.dump(
    {
        'unsafe': [unsafe_cells(**each) for each in asked['acro']],
        'bounds': [answer for date in asked['bounds'] for answer in highest(date)],
    },
    sys.stdout,
)
