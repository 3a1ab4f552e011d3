import { count, printable, spanText, timeText } from '../output.js'
import { type ReasonCounts, reasonText } from './left-out.js'
import type { Report } from './report.js'
import type { UnderstoodValue } from './understood.js'

/** What a report says of its input: the name of a row, and its text. */
export type InputRow = readonly [name: string, text: string]

/** Returns what was read, what was left out and why, and how the first request was understood. */
export function inputRows(report: Report): InputRow[] {
  const { lines, unreadable, skipped, skippedReasons, outOfOrder, requests, from, to } = report
  const { first } = unreadable
  const firstPlace = first === null ? '' : `, the first is line ${count(first.line)} of ${first.file}`
  return [
    ['lines', count(lines)],
    ['unreadable', `${count(unreadable.lines)}${firstPlace}${reasonsText(unreadable.reasons)}`],
    ...rowIf(skipped, 'skipped', `${count(skipped)}${reasonsText(skippedReasons)}`),
    ...rowIf(outOfOrder.lines, 'out of order', outOfOrderText(outOfOrder)),
    ...zoneRows(report),
    ['requests', from === null ? '0' : `${count(requests)}, ${timeText(from)} to ${timeText(to)}`],
    ...addressRows(report),
    ['clients', `${count(report.clients)}, by ${report.key}`],
  ]
}

/** Returns how many requests were logged late, and whether they are sorted. */
function outOfOrderText({ lines, mostMs, late }: Report['outOfOrder']): string {
  const found = `${count(lines)}, by up to ${spanText(mostMs)}`
  if (late === 0) return `${found}: sorted`
  return `${found}: sorted, except ${count(late)} that came too late`
}

/** Returns how times without a zone were read, and which hours exist twice. */
function zoneRows({ timeZone, repeatedHours }: Report): InputRow[] {
  if (timeZone === null) return []
  const hours = repeatedHours.map(({ hour, requests, isMerged }): InputRow => {
    const which = `the hour from ${hour.replace('T', ' ')}`
    if (isMerged)
      return [
        'twice',
        `${which}: the ${count(requests)} requests of its second run count in the first, unless you name the zone`,
      ]
    return [
      'twice',
      `${which}, with ${count(requests)} requests: each counts in the run nearer to the lines before it`,
    ]
  })
  return [['time zone', `${timeZone}, for times without one: see --time-zone`], ...hours]
}

function rowIf(number: number, name: string, text: string): InputRow[] {
  return number === 0 ? [] : [[name, text]]
}

function addressRows({ forwarded, unknownAddresses, privateAddresses }: Report): InputRow[] {
  return [
    ...rowIf(
      forwarded.requests,
      'forwarded',
      `${count(forwarded.requests)} requests, with the client from a forwarded list`,
    ),
    ...rowIf(
      forwarded.ignored,
      'not trusted',
      `${count(forwarded.ignored)} forwarded lists from senders that are not proxies (see --trust-proxy)`,
    ),
    ...rowIf(
      privateAddresses,
      'private',
      `${count(privateAddresses)} requests, counted by an address that may be a proxy's`,
    ),
    ...rowIf(unknownAddresses, 'no address', `${count(unknownAddresses)} requests, counted as one client`),
  ]
}

function reasonsText(reasons: ReasonCounts): string {
  const texts = Object.entries(reasons).map(([reason, lines]) => `${count(lines)} ${reasonText(reason)}`)
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`
}

/** Returns a row for each value of the first request, with the field that it is from. */
export function understoodRows({ firstRequest }: Report): InputRow[] {
  if (firstRequest === null) return []
  const { client, user, time, method, path } = firstRequest
  const at: UnderstoodValue = { ...time, value: time.value === null ? null : timeText(time.value) }
  return Object.entries({ client, user, time: at, method, path }).map(([name, each]) => [
    name,
    valueText(each),
  ])
}

function valueText({ value, from }: UnderstoodValue): string {
  const text = value === null ? 'none' : printable(value)
  return from === null || value === null ? text : `${text} (${printable(from)})`
}
