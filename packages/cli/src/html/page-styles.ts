/** The style sheet of pages: light and dark as the system is, down to the width of a phone. */
export const PAGE_STYLES = `:root {
  color-scheme: light dark;
  --text: #1b1d20; --muted: #53585f; --back: #ffffff; --panel: #f4f5f7; --line: #d4d8de; --link: #0b57b0;
  --user: #e8f0fb; --error: #9b1c1c; --added: #116329; --added-back: #e6f6ea; --removed: #82071e; --removed-back: #fdeceb;
  --c1: #2f6fb4; --c2: #b3541e; --c3: #5b7f2b; --c4: #7d4fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7e9ec; --muted: #a9b0b9; --back: #14161a; --panel: #1d2026; --line: #363b44; --link: #8cb8f5;
    --user: #1c2a3d; --error: #ff9c96; --added: #83e0a1; --added-back: #13281b; --removed: #ffa19b; --removed-back: #32191b;
    --c1: #5a9be0; --c2: #e08a4e; --c3: #93b85a; --c4: #b48be0;
  }
}
* { box-sizing: border-box; }
html { font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
body { margin: 0 auto; padding: 1rem; max-width: 56rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
a { color: var(--link); }
.muted, figcaption { color: var(--muted); font-size: .875rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
pre, code { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .75rem; overflow-x: auto; white-space: pre-wrap; margin: .5rem 0; }
code { background: var(--panel); border-radius: .25rem; padding: 0 .2rem; }
pre code { padding: 0; background: none; }
blockquote { margin: .5rem 0; padding-left: .9rem; border-left: 3px solid var(--line); color: var(--muted); }
article { margin: 1.25rem 0; }
article > header { font-weight: 600; display: flex; gap: .6rem; flex-wrap: wrap; align-items: baseline; }
article > header .muted { font-weight: 400; }
article.user { background: var(--user); border-radius: .5rem; padding: .6rem .9rem; }
article.note { border-left: 3px solid var(--c4); padding-left: .9rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
details > summary { cursor: pointer; padding: .4rem .7rem; }
details[open] > summary { border-bottom: 1px solid var(--line); }
details > :not(summary) { margin-left: .7rem; margin-right: .7rem; }
details.thinking > summary { color: var(--muted); }
.error { color: var(--error); }
.diff { padding: .4rem 0; }
.diff span { display: block; padding: 0 .75rem; min-height: 1.45em; }
.diff .a { color: var(--added); background: var(--added-back); }
.diff .r { color: var(--removed); background: var(--removed-back); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.name { min-width: 8rem; max-width: 20rem; overflow-wrap: break-word; }
figure { margin: 1rem 0; }
svg { display: block; width: 100%; }
.timeline { height: 12rem; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.ends { display: flex; justify-content: space-between; gap: 1rem; color: var(--muted); font-size: .875rem; }
.bars { list-style: none; margin: .5rem 0; padding: 0; display: grid; grid-template-columns: fit-content(45%) 1fr max-content; gap: .2rem .6rem; font-size: .9rem; }
.bars li { display: contents; }
.bars svg { height: .9rem; align-self: center; }
.f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); }
.l { fill: none; stroke: var(--text); stroke-width: 2; vector-effect: non-scaling-stroke; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: .15em; vertical-align: baseline; }
.k1 { background: var(--c1); } .k2 { background: var(--c2); } .k3 { background: var(--c3); } .kc { background: var(--text); }
img { max-width: 100%; height: auto; }
@media (max-width: 30rem) {
  body { padding: .75rem; }
  html { font-size: 15px; }
}
@media print { details { border: 0; } }
`;
