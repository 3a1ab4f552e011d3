import { durationText } from '../../util/durations.js'
import { count, percent, printable, row, timeText } from '../output.js'
import { inputRows, understoodRows } from './input-rows.js'
import type { LimitReport, Report, ReportBar, SuggestionReport } from './report.js'
import { type LimitPairs, suggestionPairs } from './suggestions.js'

const BAR_WIDTH = 40
const GAP = '  ...'

/** Returns a report as text for people. */
export function reportText(report: Report): string {
  const { limits, suggestions } = report
  const sections = [
    inputLines(report),
    ...(limits.length > 1 ? [comparisonLines(limits)] : []),
    ...limits.map((limit, i) => limitLines(limit, i, report)),
    ...(suggestions === undefined ? [] : [suggestionLines(suggestions)]),
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Returns the lines about what was read. */
export function inputLines(report: Report): string[] {
  const rows = understoodRows(report).map(([name, text], i) =>
    row(i === 0 ? 'first request' : '', `${name.padEnd(8)}${text}`),
  )
  return [...inputRows(report).map(([name, text]) => row(name, text)), ...rows]
}

/** Returns a line for each limit. */
function comparisonLines(limits: readonly LimitReport[]): string[] {
  const rows = limits.map(({ limit, denied }) => {
    const requests = `${count(denied.requests)} (${percent(denied.requestShare)})`
    return `  ${cells(count(limit), requests, `${count(denied.clients)} (${percent(denied.clientShare)})`)}`
  })
  return ['limits compared', `  ${cells('limit', 'denied requests', 'denied clients')}`, ...rows]
}

function limitLines(
  { policy, limit, windowMs, denied, mostDenied }: LimitReport,
  index: number,
  report: Report,
): string[] {
  const title = `${count(limit)} in ${durationText(windowMs)} (${policy})`
  const lines = [
    title,
    row(
      'denied',
      `${count(denied.requests)} of ${count(report.requests)} requests (${percent(denied.requestShare)})`,
    ),
    row('', `${count(denied.clients)} of ${count(report.clients)} clients (${percent(denied.clientShare)})`),
  ]
  if (denied.firstAt === null) return lines
  lines.push(row('when', `${timeText(denied.firstAt)} to ${timeText(denied.lastAt)}`))
  return [...lines, '', ...histogramLines(index, report), '', ...clientLines(mostDenied)]
}

/** Returns a line for each bar; only one for several in a row without a denial. */
function histogramLines(index: number, { histogram: { widthMs, bars } }: Report): string[] {
  const deniedIn = (bar: ReportBar | undefined) => bar?.denied[index] ?? 0
  const most = Math.max(...bars.map(deniedIn))
  const lines = [`  denied in each ${durationText(widthMs)}`]
  for (const [i, each] of bars.entries()) {
    const { at, requests } = each
    const denied = deniedIn(each)
    const bar = '#'.repeat(Math.ceil((BAR_WIDTH * denied) / most)).padEnd(BAR_WIDTH)
    const isQuiet = denied === 0 && i > 0 && deniedIn(bars[i - 1]) === 0
    if (!isQuiet) lines.push(`  ${timeText(at)}  ${bar}  ${count(denied)} of ${count(requests)}`)
    else if (lines.at(-1) !== GAP) lines.push(GAP)
  }
  return lines
}

function clientLines(mostDenied: LimitReport['mostDenied']): string[] {
  const names = mostDenied.map(({ client }) => printable(client))
  const width = Math.max(...names.map((name) => name.length))
  return [
    '  denied most',
    ...mostDenied.map(({ denied, requests }, i) => {
      return `  ${(names[i] ?? '').padEnd(width)}  ${count(denied)} of ${count(requests)}`
    }),
  ]
}

function suggestionLines({ policy, windowMs, withoutLargest, ...all }: SuggestionReport): string[] {
  const unit = durationText(windowMs)
  const lines = [`smallest limits in ${unit} (${policy})`, ...pairLines(all)]
  if (withoutLargest === undefined) return lines
  const { largest, largestClients } = withoutLargest
  const width = Math.max(...largest.map(({ client }) => printable(client).length))
  const more = largestClients - largest.length
  return [
    ...lines,
    '',
    `the same without ${largestClients === 1 ? 'the largest client' : `the ${count(largestClients)} largest clients`}`,
    ...pairLines(withoutLargest),
    '',
    `  set apart${' '.repeat(Math.max(0, width - 9))}  most in ${unit}`,
    ...largest.map(({ client, most }) => `  ${printable(client).padEnd(Math.max(9, width))}  ${count(most)}`),
    ...(more === 0 ? [] : [`  and ${count(more)} others`]),
  ]
}

function pairLines(pairs: LimitPairs): string[] {
  const rows = suggestionPairs(pairs).map(([ofRequests, ofClients]) => {
    return `  ${cells(
      `${100 * ofRequests.share}%`,
      `${count(ofRequests.limit)} (denies ${count(ofRequests.denied)})`,
      `${count(ofClients.limit)} (denies ${count(ofClients.denied)})`,
    )}`
  })
  return [`  ${cells('deny at most', 'of requests', 'of clients')}`, ...rows]
}

function cells(first: string, ...others: readonly string[]): string {
  return `${first.padEnd(14)}${others.map((each) => each.padEnd(26)).join('')}`.trimEnd()
}
