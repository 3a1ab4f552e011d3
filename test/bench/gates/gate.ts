import { medianOf } from '../harness/intervals.js'
import { median } from '../harness/rounds.js'
import { printTable, whole } from '../harness/table.js'

/** What a round took, by the head of its column. */
export type Sample = Readonly<Record<string, number>>

/** The rounds of each contender. Those with the same index were measured one after the other. */
export type Samples<Name extends string = string> = Readonly<Record<Name, readonly Sample[]>>

/** How a contender must stand to a peer, or to the best of several. */
export type Goal<Name extends string = string> = {
  readonly of: Name
  readonly peers: readonly Name[]
  /** The column that is compared. */
  readonly figure: string
} & ({ readonly atLeast: number } | { readonly atMost: number })

/** A comparison that a change must pass. */
export interface Gate<Name extends string = string> {
  readonly title: string
  readonly goals: readonly Goal<Name>[]
  measure(): Promise<Samples<Name>>
}

/** Measures, and prints each contender's figures and whether the goals were reached. */
export async function runGate<Name extends string>(gate: Gate<Name>): Promise<void> {
  const samples = await gate.measure()
  printFigures(gate.title, samples)
  if (gate.goals.length === 0) return
  printTable(
    `Goals of ${gate.title}: times the peer, medians of the rounds`,
    ['contender', 'against', 'figure', 'goal', 'times', '95 %', ''],
    gate.goals.map((goal) => goalRow(goal, samples)),
  )
}

function printFigures(title: string, samples: Samples): void {
  const all = Object.entries(samples)
  const heads = Object.keys(all[0]?.[1][0] ?? {})
  const rows = all.map(([name, rounds]) => [
    name,
    ...heads.flatMap((head) => {
      const { median: middle, low, high } = medianOf(rounds.map((sample) => sample[head] as number))
      return [shown(middle), `${shown(low)} to ${shown(high)}`]
    }),
  ])
  const rounds = all[0]?.[1].length ?? 0
  printTable(
    `${title}: ${rounds} rounds, medians and their 95 %`,
    ['contender', ...heads.flatMap((head) => [head, ''])],
    rows,
  )
}

function goalRow<Name extends string>(goal: Goal<Name>, samples: Samples<Name>): string[] {
  const { of, figure } = goal
  const valuesOf = (name: Name) => samples[name].map((sample) => sample[figure] as number)
  const [sign, bound, best] =
    'atLeast' in goal
      ? (['at least', goal.atLeast, Math.max] as const)
      : (['at most', goal.atMost, Math.min] as const)
  const medians = new Map(goal.peers.map((name) => [median(valuesOf(name)), name]))
  const peer = medians.get(best(...medians.keys())) as Name
  const peers = valuesOf(peer)
  // By round: what the machine does meets all contenders of one round.
  const times = medianOf(valuesOf(of).map((value, round) => value / (peers[round] as number)))
  const isReached = sign === 'at least' ? times.median >= bound : times.median <= bound
  return [
    of,
    peer,
    figure,
    `${sign} ${bound.toFixed(2)}`,
    times.median.toFixed(2),
    `${times.low.toFixed(2)} to ${times.high.toFixed(2)}`,
    isReached ? 'reached' : 'NOT reached',
  ]
}

/** Three digits, and all of a whole number. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return whole(value)
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
