"""Style sheets of reports: colours for light and dark pages and for print, and the layout of the page.

The colours of series are those of Okabe and Ito, darkened for light pages and lightened for dark ones until text in
them is legible (a contrast of at least 4.5).
"""

from __future__ import annotations

LIGHT = ("#0069a8", "#b84a00", "#00785a", "#a3417c", "#8a6100", "#5f6670", "#5b5bb5", "#2a7f9e")
DARK = ("#5db8ee", "#f2945a", "#42c9a0", "#e79bc8", "#e8b33c", "#b4bcc6", "#adadf5", "#86d3e8")


def series_colours(colours: tuple[str, ...]) -> str:
    """The rules that give every series its colour."""
    return "".join(f".s{k}{{color:{colour}}}" for k, colour in enumerate(colours))


CHART = """
.grid{stroke:var(--grid);stroke-width:1;fill:none}
.axis{stroke:var(--axis);stroke-width:1;fill:none}
.tick,.name,.label{font-size:12.5px}
.tick,.name{fill:var(--soft)}
.base{color:var(--soft)}
.tick{font-variant-numeric:tabular-nums}
.label{fill:currentColor;font-weight:600}
.line,.thin,.bar,.leader{fill:none;stroke:currentColor;stroke-linejoin:round}
.line{stroke-width:2.25}
.solid{stroke-dasharray:none}
.dotted{stroke-dasharray:2 3}
.thin{stroke-width:1.25;opacity:.75}
.base .thin{opacity:1}
.bar{stroke-width:1.5;opacity:.8}
.leader{stroke-width:1;opacity:.6}
.band{fill:currentColor;opacity:.15}
.area,.marker,.dot{fill:currentColor}
.marker{stroke:var(--card);stroke-width:1}
.stack{fill:currentColor;stroke:var(--card);stroke-width:.75}
.switch{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:2 3;fill:none}
.zero{stroke:var(--soft);stroke-width:1;fill:none}
.hit{fill:transparent}
.hit:hover{fill:var(--soft);fill-opacity:.1}
"""

_LIGHT = """--page:#f6f5f2;--card:#fff;--ink:#1d2126;--soft:#5c646e;--edge:#e4e2dc;--grid:#eceae5;--axis:#a9aeb5;
--accent:#0069a8;--well:#f3f2ee;--mark:#a3417c;--ramp-a:#f0d06a;--ramp-b:#153f70;--shadow:0 1px 2px rgb(29 33 38/5%)"""
_DARK = """--page:#111417;--card:#191d22;--ink:#e9ebee;--soft:#a3abb5;--edge:#2b3138;--grid:#272c33;--axis:#5d6670;
--accent:#5db8ee;--well:#22272d;--mark:#e79bc8;--ramp-a:#f0d06a;--ramp-b:#2c66a6;--shadow:none"""

PAGE = f"""
:root{{color-scheme:light;{_LIGHT}}}
{series_colours(LIGHT)}
@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{_DARK}}}{series_colours(DARK)}}}
{CHART}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%;text-size-adjust:100%}}
main{{max-width:1120px;margin:0 auto;padding:48px 20px 64px}}
header{{margin:0 0 32px;padding:0 4px}}
h1{{font-size:clamp(1.6rem,1.1rem + 2vw,2.4rem);line-height:1.15;letter-spacing:-.02em;font-weight:680;
margin:6px 0 10px;overflow-wrap:anywhere;text-wrap:balance}}
h2{{font-size:1.15rem;line-height:1.3;letter-spacing:-.01em;font-weight:650;margin:0 0 4px}}
h3{{font-size:.95rem;font-weight:620;margin:22px 0 2px}}
p{{margin:0}}
.eyebrow{{font-size:.8rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase;color:var(--accent)}}
.lead{{font-size:1.06rem;color:var(--soft);max-width:84ch}}
.read{{font-size:.93rem;color:var(--soft);max-width:104ch;overflow-wrap:anywhere}}
.warning{{border:1px solid var(--mark);border-left-width:6px;border-radius:10px;background:var(--card);
padding:14px 18px;margin:0 0 20px;overflow-wrap:anywhere;text-wrap:pretty}}
.grid2{{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:20px;margin:0 0 20px}}
.grid2>section{{margin:0}}
section{{background:var(--card);border:1px solid var(--edge);border-radius:14px;box-shadow:var(--shadow);
padding:24px 28px;margin:0 0 20px;min-width:0}}
.tiles{{display:grid;grid-template-columns:repeat(12,minmax(0,1fr));gap:14px;margin:0 0 20px}}
.tile{{background:var(--card);border:1px solid var(--edge);border-radius:14px;box-shadow:var(--shadow);
padding:16px 18px;min-width:0;grid-column:span 3}}
.tile.big{{grid-column:span 4}}
.tile dt{{font-size:.85rem;color:var(--soft)}}
.tile dd{{margin:0}}
.tile .value{{font-size:1.85rem;line-height:1.25;font-weight:660;letter-spacing:-.02em;
font-variant-numeric:tabular-nums}}
.tile .note{{font-size:.83rem;line-height:1.4;color:var(--soft)}}
.range{{display:block;position:relative;height:6px;margin:6px 0 7px;border-radius:3px;background:var(--grid)}}
.range i{{position:absolute;top:0;height:6px;border-radius:3px;background:var(--accent);opacity:.45}}
.range b{{position:absolute;top:-3px;height:12px;width:3px;margin-left:-1.5px;border-radius:2px;background:var(--ink)}}
.read,.lead{{text-wrap:pretty}}
figure+.read,.scroll+.read{{margin:12px 0 0}}
figure{{margin:14px 0 0}}
.plots{{container-type:inline-size}}
.plots>svg{{width:100%;height:auto;margin:0 auto;overflow:visible}}
.plots .wide,.plots .narrow{{display:none}}
.plots .medium{{display:block}}
@container (min-width:760px){{.plots .wide{{display:block}}.plots .wide~.medium{{display:none}}}}
@container (min-width:440px){{.plots .spare{{display:none}}}}
@container (max-width:439.9px){{.plots .narrow{{display:block}}.plots .medium{{display:none}}}}
.legend{{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;margin:0 0 10px;padding:0;font-size:.87rem}}
.legend li{{display:inline-flex;align-items:center;gap:8px;min-width:0;overflow-wrap:anywhere}}
.swatch{{flex:none;vertical-align:-2px}}
details{{margin:14px 0 0;font-size:.9rem}}
summary{{cursor:pointer;color:var(--accent);width:fit-content;border-radius:4px}}
summary:focus-visible,.scroll:focus-visible{{outline:2px solid var(--accent);outline-offset:3px}}
.scroll{{overflow-x:auto;margin:10px 0 0;max-width:100%}}
table{{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}}
th,td{{padding:6px 12px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}}
th:first-child,td:first-child{{padding-left:2px;position:sticky;left:0;background:var(--card)}}
tbody th{{font-weight:400}}
thead th{{font-weight:600;color:var(--soft);border-bottom-color:var(--axis);vertical-align:bottom}}
tbody tr:last-child>*{{border-bottom-color:var(--edge)}}
.text{{text-align:left}}
td.wrap{{white-space:normal;min-width:28ch;overflow-wrap:anywhere}}
tbody:not(:last-child) tr:last-child>*{{border-bottom-color:var(--axis)}}
td .range{{width:110px}}
.matrix{{width:auto}}
.matrix .cell{{background:color-mix(in srgb,var(--accent) calc(var(--share) * .5),transparent);min-width:4.5em}}
.matrix .own{{outline:2px solid var(--ink);outline-offset:-2px;font-weight:650}}
.part{{break-inside:avoid}}
tr.best td,tr.best th{{font-weight:700}}
.facts{{display:grid;grid-template-columns:minmax(0,max-content) minmax(0,1fr);gap:7px 24px;margin:12px 0 0;
font-size:.93rem}}
.facts dt{{color:var(--soft);overflow-wrap:anywhere}}
.facts dd{{margin:0;overflow-wrap:anywhere}}
pre{{margin:12px 0 0;padding:14px 16px;border-radius:10px;background:var(--well);white-space:pre-wrap;
overflow-wrap:anywhere;font:.88rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;user-select:all}}
footer{{color:var(--soft);font-size:.83rem;padding:8px 4px 0}}
@media (max-width:900px){{.grid2{{grid-template-columns:minmax(0,1fr)}}}}
@media (max-width:720px){{.tile{{grid-column:span 6}}.tile.big{{grid-column:1/-1}}}}
@media (max-width:600px){{main{{padding:26px 12px 40px}}header{{margin-bottom:22px}}section{{padding:18px 14px}}
th,td{{padding:6px}}thead th{{white-space:normal}}tbody th.text{{white-space:normal;min-width:9.5em}}
.tiles{{gap:10px}}.tile{{padding:13px 14px}}.tile .value{{font-size:1.45rem}}
.facts{{grid-template-columns:minmax(0,1fr);gap:0}}.facts dd{{margin:0 0 9px}}}}
@media print{{@page{{margin:14mm}}:root{{--page:#fff;--shadow:none;font-size:12px}}body{{font-size:1rem}}
main{{max-width:none;padding:0}}header{{margin-bottom:16px}}section{{padding:16px 18px}}
section,.tile,.warning,figure,tr,pre,.read,.part{{break-inside:avoid}}section.long{{break-inside:auto}}
h2,h3,.read,thead{{break-after:avoid}}section,.grid2,.tiles{{margin-bottom:14px}}
.grid2{{grid-template-columns:repeat(2,minmax(0,1fr));gap:14px}}
.tile{{grid-column:span 3}}.tile.big{{grid-column:span 4}}
details{{display:none}}.scroll{{overflow:visible}}
table{{font-size:.85rem}}th,td{{padding:3px 5px}}td .range{{width:80px}}td.wrap{{min-width:0}}
.dense th,.dense td{{white-space:normal}}
*{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}}}
"""

PICTURE = f"""
text{{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}}
.heading{{font-size:16px;font-weight:650}}
svg{{--ink:#1d2126;--soft:#5c646e;--grid:#e6e6e6;--axis:#a9aeb5;--card:transparent;background:#fff}}
{series_colours(LIGHT)}
@media (prefers-color-scheme:dark){{svg{{--ink:#e9ebee;--soft:#a3abb5;--grid:#30363d;--axis:#5d6670;background:#15181c}}
{series_colours(DARK)}}}
.heading{{fill:var(--ink)}}{CHART}"""
