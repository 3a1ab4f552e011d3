import { CALLERS, CONTENDED, type Contention, contend } from '../integration/dynamodb/contend.js'
import { startDynalite } from '../integration/dynamodb/dynalite.js'
import { printTable } from './harness/table.js'
import { isShort } from './workloads.js'

const DECISIONS = isShort ? 1000 : 4000

/**
 * Callers with a client each, as functions have that serve one request at a time, charge one key in DynamoDB,
 * each again as soon as it has its reply.
 */
export async function benchDynamodb(): Promise<void> {
  const server = await startDynalite()
  try {
    for (const [name, policy] of Object.entries(CONTENDED)) {
      const rows: string[][] = []
      for (const callers of CALLERS)
        rows.push(rowOf(callers, await contend({ server }, `${name}-${callers}`, callers, policy, DECISIONS)))
      const head = ['callers', 'write units', 'read units', 'failed conditions', 'median', '99 %', 'failed']
      printTable(`${DECISIONS} decisions of one key in dynalite, each: ${name}`, head, rows)
    }
  } finally {
    await server.stop()
  }
}

function rowOf(callers: number, { costs, failed, tookMs }: Contention): string[] {
  const each = (name: 'writeUnits' | 'readUnits' | 'failedConditions') =>
    (costs.reduce((sum, cost) => sum + cost[name], 0) / tookMs.length).toFixed(3)
  const sorted = tookMs.sort((a, b) => a - b)
  const at = (share: number) => `${(sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(1)} ms`
  return [
    String(callers),
    ...[each('writeUnits'), each('readUnits'), each('failedConditions')],
    ...[at(0.5), at(0.99), String(failed)],
  ]
}
