// SPDX-License-Identifier: Apache-2.0
// A table sorts by the column whose heading is pressed; again, the other way.
'use strict';
for (const table of document.querySelectorAll('table.sorts')) {
    const heads = [...table.tHead.rows[0].cells];
    const key = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent;
    heads.forEach((head, i) => {
        const button = document.createElement('button');
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener('click', () => {
            const falls = head.getAttribute('aria-sort') === 'ascending'
                || (!head.hasAttribute('aria-sort') && !head.classList.contains('left'));
            const up = head.getAttribute('aria-sort') === 'descending' ? true : !falls;
            for (const other of heads) other.removeAttribute('aria-sort');
            head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
            const rows = [...table.tBodies[0].rows];
            rows.sort((a, b) => {
                const x = key(a, i), y = key(b, i);
                const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
                return up ? order : -order;
            });
            table.tBodies[0].append(...rows);
        });
    });
}
document.documentElement.dataset.ready = 'yes';
