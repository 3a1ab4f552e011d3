import { durationText } from '../../../util/durations.js'
import { count, percent, printable, timeText } from '../../output.js'
import { type InputRow, inputRows, understoodRows } from '../input-rows.js'
import type { LimitReport, Report, SuggestionReport, WithoutLargest } from '../report.js'
import { type LimitPairs, suggestionPairs } from '../suggestions.js'
import { barChart } from './chart.js'
import { html, type Markup } from './markup.js'
import { STYLE } from './style.js'

/** The page runs no script, and loads nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'"

/** Returns a report as a page in one file. */
export function reportPage(report: Report): string {
  const { limits, suggestions } = report
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>headgate replay</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
<h1>headgate replay</h1>
${inputSection(report)}
${limits.length > 1 ? comparisonSection(limits) : []}
${limits.length === 0 ? requestSection(report) : []}
${limits.map((limit, i) => limitSection(limit, i, report))}
${suggestions === undefined ? [] : suggestionSection(suggestions)}
</main>
</body>
</html>
`
  return page.markup
}

function inputSection(report: Report): Markup {
  const first = understoodRows(report)
  return html`<section aria-labelledby="input"><h2 id="input">Log</h2><dl>
${inputRows(report).map(describedRow)}
</dl></section>
${
  first.length === 0
    ? []
    : html`<section aria-labelledby="first"><h2 id="first">How the first request was read</h2><dl>
${first.map(describedRow)}
</dl></section>`
}`
}

function describedRow([name, text]: InputRow): Markup {
  return html`<dt>${name}</dt><dd>${text}</dd>
`
}

function comparisonSection(limits: readonly LimitReport[]): Markup {
  const rows = limits.map(({ limit, denied }) => [
    html`${count(limit)}`,
    html`${count(denied.requests)} (${percent(denied.requestShare)})`,
    html`${count(denied.clients)} (${percent(denied.clientShare)})`,
  ])
  return html`<section>${table('Limits compared', ['limit', 'denied requests', 'denied clients'], rows)}</section>`
}

function limitSection(limit: LimitReport, index: number, { requests, clients, histogram }: Report): Markup {
  const { policy, windowMs, denied, mostDenied } = limit
  const name = `${count(limit.limit)} in ${durationText(windowMs)} (${policy})`
  const unit = durationText(histogram.widthMs)
  const chart = `Requests in each ${unit}, allowed and denied by ${name}`
  const rows = mostDenied.map((client) => [
    html`<bdi>${printable(client.client)}</bdi>`,
    html`${count(client.denied)}`,
    html`${count(client.requests)}`,
  ])
  return html`<section aria-labelledby="limit-${index}"><h2 id="limit-${index}">${name}</h2>
<p>Denied ${count(denied.requests)} of ${count(requests)} requests (${percent(denied.requestShare)}), of
${count(denied.clients)} of ${count(clients)} clients (${percent(denied.clientShare)}).</p>
${denied.firstAt === null ? [] : html`<p>From ${timeText(denied.firstAt)} to ${timeText(denied.lastAt)}.</p>`}
<p class="quiet"><span class="key of-allowed"></span><span>allowed</span><span class="key of-denied"></span><span>denied</span></p>
${histogram.bars.length === 0 ? [] : barChart(histogram, index, chart)}
${rows.length === 0 ? [] : table(`Denied most by ${name}`, ['client', 'denied', 'requests'], rows)}
</section>`
}

/** Returns the chart of a report that has suggestions only. */
function requestSection({ histogram }: Report): Markup {
  const title = `Requests in each ${durationText(histogram.widthMs)}`
  return html`<section aria-labelledby="requests"><h2 id="requests">Requests</h2>
${histogram.bars.length === 0 ? [] : barChart(histogram, undefined, title)}
</section>`
}

function suggestionSection({ policy, windowMs, withoutLargest, ...all }: SuggestionReport): Markup {
  const title = `Smallest limits in ${durationText(windowMs)} (${policy})`
  return html`<section>${pairTable(title, all)}
${withoutLargest === undefined ? [] : withoutLargestTables(title, withoutLargest, windowMs)}</section>`
}

function withoutLargestTables(
  title: string,
  { largest, largestClients, ...pairs }: WithoutLargest,
  windowMs: number,
): Markup {
  const rows = largest.map(({ client, most }) => [
    html`<bdi>${printable(client)}</bdi>`,
    html`${count(most)}`,
  ])
  return html`${pairTable(`${title}, without the largest clients`, pairs)}
${table(`${count(largestClients)} set apart`, ['client', `most in ${durationText(windowMs)}`], rows)}`
}

function pairTable(title: string, pairs: LimitPairs): Markup {
  const rows = suggestionPairs(pairs).map(([ofRequests, ofClients]) => [
    html`${100 * ofRequests.share}%`,
    html`${count(ofRequests.limit)} (denies ${count(ofRequests.denied)})`,
    html`${count(ofClients.limit)} (denies ${count(ofClients.denied)})`,
  ])
  return table(title, ['deny at most', 'of requests', 'of clients'], rows)
}

/** Returns a table whose columns but the first are figures. */
function table(caption: string, head: readonly string[], rows: readonly (readonly Markup[])[]): Markup {
  const kind = (i: number) => (i === 0 ? '' : 'number')
  const cells = (row: readonly Markup[]) => row.map((cell, i) => html`<td class="${kind(i)}">${cell}</td>`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr>${head.map((name, i) => html`<th scope="col" class="${kind(i)}">${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`
}
