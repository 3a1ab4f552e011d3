import { durationText } from '../../../src/util/durations.js'
import type { Denied, Judgement } from './judge.js'

/** A judged trace. */
export interface Row {
  readonly title: string
  readonly judgement: Judgement
}

/** Returns what `headgate tune` makes of traces, as text: a paragraph for each. */
export function tableOf(rows: readonly Row[]): string {
  return rows.map(({ title, judgement }) => paragraph(title, judgement)).join('\n')
}

/** Returns rows of the table in docs/tune.md, for the traces that were recorded without a limit in force. */
export function pageRows(rows: readonly Row[]): string {
  return rows
    .filter(({ judgement }) => judgement.proposal.inForce === undefined)
    .map(({ title, judgement: { proposal, honest, attackers } }) => {
      const missed = Object.entries(attackers).map(([name, { clients, denied }]) => {
        return `${clients - denied} of ${clients} of the ${name}`
      })
      const wrongly = `${honest.denied} of ${honest.clients.toLocaleString('en-US')}`
      const limit = `${proposal.limit?.toLocaleString('en-US')} in ${durationText(proposal.windowMs)}`
      return `| ${title} | ${limit} | ${wrongly} | ${missed.join(', ') || '–'} |\n`
    })
    .join('')
}

function paragraph(
  title: string,
  { proposal, honest, unusual, attackers, deniedOfAttack }: Judgement,
): string {
  const { verdict, limit, inForce, reason, cautions } = proposal
  const now = inForce === undefined ? 'none in force' : `${inForce} in force`
  const lines = [
    `${title} (${now})`,
    cell('proposal', `${verdict} ${limit}`),
    cell('because', reason),
    ...cautions.map((text) => cell('but', text)),
    cell('denied wrongly', `${honest.denied} of ${honest.clients} honest clients${listed(unusual)}`),
    ...Object.entries(attackers).map(([name, { clients, denied }]) =>
      cell('missed', `${clients - denied} of ${clients} ${name}`),
    ),
    ...(Object.keys(attackers).length === 0
      ? []
      : [cell('stopped', `${(100 * deniedOfAttack).toFixed(1)}% of the attackers' requests`)]),
  ]
  return `${lines.join('\n')}\n`
}

function listed(groups: Readonly<Record<string, Denied>>): string {
  return Object.entries(groups)
    .map(([name, { clients, denied }]) => `, ${denied} of ${clients} of ${name}`)
    .join('')
}

function cell(name: string, text: string): string {
  return `  ${name.padEnd(16)}${text}`
}
