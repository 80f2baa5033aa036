'use strict';
// A click on the head of a column sorts its table, the best first, numbers before those that are of some folds alone before words before nothing;
// another one turns it round.
const key = cell => {
  const text = cell.textContent.trim(), number = parseFloat(text.replace('−', '-').replace('Inf', 'Infinity'));
  return text === '' ? [3, 0] : isNaN(number) ? [2, text] : [cell.classList.contains('partial') ? 1 : 0, number];
};
const compare = ([a, x], [b, y], sign) =>
  a !== b ? a - b : a === 2 ? sign * x.localeCompare(y, 'en', {numeric: true}) : sign * (x > y) - sign * (x < y);
const sort = (head, sign) => {
  for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
  const body = head.closest('table').tBodies[0];
  const rows = Array.from(body.rows, row => [key(row.cells[head.cellIndex]), row]);
  body.append(...rows.sort((a, b) => compare(a[0], b[0], sign)).map(([, row]) => row));
};
document.addEventListener('click', event => {
  const head = event.target.closest('th');
  if (!head) return;
  const first = head.dataset.best === 'descending' ? -1 : 1, now = head.getAttribute('aria-sort');
  sort(head, !now ? first : now === 'ascending' ? -1 : 1);
});

// The scheme is that of the system until it is switched, also when the page is opened again, where the browser lets it keep that.
const scheme = document.getElementById('scheme'), system = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement, kept = 'gpc-tune scheme';
const storage = use => { try { return use(localStorage); } catch { return null; } };
let dark;
const show = choice => { // '' is the system's
  root.style.colorScheme = choice;
  dark = choice ? choice === 'dark' : system.matches;
  root.dataset.scheme = dark ? 'dark' : 'light';
  scheme.textContent = dark ? 'Light' : 'Dark';
};
show(['light', 'dark'].find(s => s === storage(store => store.getItem(kept))) ?? '');
system.addEventListener('change', () => show(root.style.colorScheme));
scheme.addEventListener('click', () => {
  const choice = !dark === system.matches ? '' : dark ? 'light' : 'dark';
  show(choice);
  storage(store => store.setItem(kept, choice));
});
scheme.hidden = false;

// What is linked to is unfolded.
const unfold = () => {
  const target = document.querySelector('details:target');
  if (target) target.open = true;
};
addEventListener('hashchange', unfold);
unfold();

// The columns that tell the rows apart stay in view, as long as they leave room for others.
const pin = () => {
  for (const box of document.querySelectorAll('#results .scroll')) {
    const heads = box.querySelector('thead tr')?.cells ?? [];
    let left = 0, columns = 0;
    for (const head of heads) {
      if (columns > 1 && head.classList.contains('n') || left + head.offsetWidth > box.clientWidth / 2) break;
      left += head.offsetWidth;
      columns++;
    }
    const wide = box.scrollWidth > box.clientWidth, starts = [];
    let at = 0;
    for (const head of heads) {
      starts.push(at + 'px');
      at += head.offsetWidth;
    }
    // all widths are read before the first style is written, or the browser lays out every row anew
    for (const row of box.querySelectorAll('tr')) for (let i = 0; i < columns && i < row.cells.length; i++) {
      row.cells[i].classList.toggle('pinned', wide);
      row.cells[i].style.left = wide ? starts[i] : '';
    }
    for (const cell of box.querySelectorAll(`.pinned:nth-child(n+${columns + 1})`)) cell.classList.remove('pinned');
  }
};
addEventListener('resize', pin);
pin();

// All is printed, also what is folded.
let folded = [];
addEventListener('beforeprint', () => {
  folded = Array.from(document.querySelectorAll('details:not([open])'));
  for (const of of folded) of.open = true;
});
addEventListener('afterprint', () => { for (const of of folded) of.open = false; });
