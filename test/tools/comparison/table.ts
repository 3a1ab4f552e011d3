import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { closeAll } from './contender.js'
import { CONTENDERS } from './contenders.js'
import { installed } from './installed.js'
import type { Table } from './printed.js'
import { PROBES, type Probe } from './probes.js'

/** Sets all packages up, and runs them. Needs no build. */
export async function probeAll(): Promise<Table['rows']> {
  const redis = await startRedis({ own: true })
  const cellsOf = new Map<Probe, readonly string[]>()
  try {
    for (const probe of [...PROBES].sort((one, other) => Number(!one.inTurns) - Number(!other.inTurns))) {
      cellsOf.set(probe, await answer(probe, redis))
    }
  } finally {
    await closeAll()
    await redis.stop()
  }
  return Object.fromEntries(PROBES.map((probe) => [probe.question, cellsOf.get(probe) ?? []]))
}

async function answer({ prepare, inTurns }: Probe, redis: RedisServer): Promise<readonly string[]> {
  const runs = await Promise.all(CONTENDERS.map((contender) => prepare(contender, redis)))
  if (!inTurns) return Promise.all(runs.map((run) => run()))
  const cells: string[] = []
  for (const run of runs) cells.push(await run())
  return cells
}

/** What installing the packages brings along, without their peers. Needs a build of headgate. */
export async function installAll(): Promise<Table['rows']> {
  const all = await Promise.all(CONTENDERS.map(({ name }) => installed(name)))
  const questions = Object.keys(all[0] ?? {})
  return Object.fromEntries(
    questions.map((question) => [question, all.map((cells) => cells[question] ?? '')]),
  )
}

export const HEADS = CONTENDERS.map(({ name }) => name)
