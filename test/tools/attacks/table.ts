import { type Attack, type Outcome, play } from './attack.js'

const TITLE = 'Attacks on a login behind loginGuard with its default limits'

const GROUPS = ['without device cookies', 'with device cookies'] as const
const FIGURES = ['reached', 'lost', 'locked', 'user in']

/** An attack, and what came of it on a site without device cookies and on one with them. */
export interface Row {
  readonly attack: Attack
  readonly without: Outcome
  readonly withCookies: Outcome
}

export async function playBoth(attack: Attack): Promise<Row> {
  return { attack, without: await play(attack, false), withCookies: await play(attack, true) }
}

/** The table as it is printed, indented by two. */
export function tableOf(rows: readonly Row[]): string {
  const names = column(['attack', ...rows.map(({ attack }) => attack.name)], 'left')
  const guesses = column(['guesses', ...rows.map(({ without }) => without.guesses.toLocaleString('en-US'))])
  const without = group(rows.map((row) => row.without))
  const withCookies = group(rows.map((row) => row.withCookies))
  const lines = names.map((name, i) => [name, guesses[i], without[i], withCookies[i]].join('  '))
  const before = `${names[0]}  ${guesses[0]}`.length + 2
  const groups = ' '.repeat(before) + GROUPS[0].padEnd((without[0]?.length ?? 0) + 2) + GROUPS[1]
  return [TITLE, '', groups, ...lines].map((line) => (line === '' ? '' : `  ${line.trimEnd()}`)).join('\n')
}

/** The figures of one kind of site, as cells of one width each. */
function group(outcomes: readonly Outcome[]): string[] {
  const cells = outcomes.map(({ reached, lost, lockouts, userIn, userTries }) => [
    reached.toLocaleString('en-US'),
    String(lost),
    String(lockouts),
    `${userIn} of ${userTries}`,
  ])
  const columns = FIGURES.map((figure, i) => column([figure, ...cells.map((line) => line[i] ?? '')]))
  return (columns[0] ?? []).map((_, line) => columns.map((each) => each[line]).join('  '))
}

/** Cells of one width, with a rule below the head. */
function column([head = '', ...cells]: readonly string[], side: 'left' | 'right' = 'right'): string[] {
  const width = Math.max(...[head, ...cells].map(({ length }) => length))
  return [head, '-'.repeat(width), ...cells].map((cell) =>
    side === 'left' ? cell.padEnd(width) : cell.padStart(width),
  )
}
