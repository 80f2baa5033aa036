'use strict';
// How far the run is, is asked every two seconds. Once there is news the report of now takes the place of the one shown, as often as
// that is little work. What is unfolded, sorted, scrolled to and focused stays so.
const strip = document.getElementById('live'), every = 2000, share = 10;
let shown = strip.dataset.version, told = shown, due = 0;

// call is a name of a part of the page that it has in every version, all the parts by name: of equal names the later are longer.
const call = part => [part.closest('[id]')?.id, part.closest('[data-name]')?.dataset.name, part.closest('figure')?.querySelector('h3')?.textContent,
  part.tagName, part.matches('button, a, summary') ? part.textContent.replace(/ \(.*/, '') : ''].join('\n');
const all = (page, selector) => {
  const parts = new Map();
  for (const part of page.querySelector('main').querySelectorAll(selector)) {
    let name = call(part);
    while (parts.has(name)) name += '+';
    parts.set(name, part);
  }
  return parts;
};
const both = (fresh, selector, act) => {
  const parts = all(fresh, selector);
  for (const [name, old] of all(document, selector)) if (parts.has(name)) act(old, parts.get(name));
};

const refresh = async () => {
  const begin = performance.now(), answer = await fetch('/', {cache: 'no-store'});
  if (!answer.ok) throw new Error(await answer.text());
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  both(fresh, 'details[id]', (old, now) => { now.open = old.open; });
  both(fresh, '.scroll', (old, now) => {
    const fold = now.closest('.fold'), head = old.querySelector('th[aria-sort]');
    if (fold) fold.open = old.closest('.fold')?.open ?? true;
    for (const cell of head ? now.querySelectorAll('th') : [])
      if (cell.textContent === head.textContent) sort(cell, head.getAttribute('aria-sort') === 'ascending' ? 1 : -1);
  });
  const scrolled = '.scroll, .panels', marks = 'section[id], details[id]', focusable = 'a, button, summary, .scroll';
  const inside = new Map(Array.from(all(document, scrolled), ([name, part]) => [name, [part.scrollLeft, part.scrollTop]]));
  const [mark, top] = Array.from(all(document, marks), ([name, part]) => [name, part.getBoundingClientRect().top]).findLast(([, y]) => y <= 0) ?? [];
  const main = document.querySelector('main'), focused = main.contains(document.activeElement) && document.activeElement;
  const focus = focused && Array.from(all(document, focusable)).find(([, part]) => part === focused)?.[0];
  main.replaceWith(fresh.querySelector('main'));
  for (const [name, part] of all(document, scrolled)) [part.scrollLeft, part.scrollTop] = inside.get(name) ?? [0, 0];
  const marked = all(document, marks).get(mark);
  if (marked) scrollBy(0, marked.getBoundingClientRect().top - top);
  if (focus) all(document, focusable).get(focus)?.focus({preventScroll: true});
  shown = fresh.getElementById('live').dataset.version;
  due = performance.now() + share * (performance.now() - begin);
};

const tell = (kind, texts, status) => {
  strip.className = 'alert ' + kind;
  strip.hidden = texts.length === 0;
  strip.querySelector('div').replaceChildren(...texts.map(text => Object.assign(document.createElement('p'), {textContent: text})));
  const bar = strip.querySelector('progress');
  bar.hidden = !status;
  if (status) bar.value = status.done / Math.max(1, status.known);
};

const poll = async () => {
  try {
    const answer = await fetch('status.json', {cache: 'no-store', headers: {'If-None-Match': `"${told}"`}});
    if (!answer.ok && answer.status !== 304) throw new Error(await answer.text());
    if (answer.ok) {
      const now = await answer.json();
      tell(now.class, now.text, now.status);
      document.querySelector('h1').textContent = now.title;
      document.title = now.title + ' – gpc-tune';
      told = now.version;
    }
    if (shown !== told && performance.now() >= due && getSelection().isCollapsed) await refresh();
  } catch (error) {
    tell('bad', ['gpc-tune serve does not answer; this page shows what it said last, and asks on. ' + error]);
    told = '';
  }
  setTimeout(poll, every);
};
setTimeout(poll, every);
