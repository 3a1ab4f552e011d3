import { printTable, whole } from '../../bench/harness/table.js'
import type { Losses, RecordLosses } from '../../support/tally.js'
import { describeWorkerLosses } from '../cluster/losses.js'
import { describeDenoLosses } from '../deno-kv/losses.js'
import { describeObjectLosses } from '../durable-objects/describe-losses.js'
import { describeKills, describeLostReplies } from '../dynamodb/losses.js'
import { useDynalite } from '../dynamodb/use-dynalite.js'
import { describeClientLosses } from '../redis/client-losses.js'
import { describeUpstashLosses } from '../upstash/losses.js'

jest.setTimeout(600_000)

const FIGURES = ['sent', 'allowed', 'denied', 'uncounted', 'unknown', 'counted', 'lost', 'doubled'] as const
const rows: string[][] = []

const recordFor =
  (store: string): RecordLosses =>
  (failure, losses: Losses) =>
    void rows.push([store, failure, ...FIGURES.map((figure) => whole(losses[figure]))])

afterAll(() => {
  printTable('Charges under load while something fails', ['store', 'failure', ...FIGURES], rows)
})

const STORES: Readonly<Record<string, (record: RecordLosses) => void>> = {
  'Durable Objects': describeObjectLosses,
  'Deno KV': (record) => describeDenoLosses([1000, 2000, 3000], record),
  DynamoDB(record) {
    const tables = useDynalite()
    describeKills(tables, { processes: 6, limit: 5000 }, record)
    describeLostReplies(tables, 3000, record)
  },
  Upstash: describeUpstashLosses,
  'node:cluster': (record) => describeWorkerLosses([1000, 2000, 3000], record),
  'Valkey GLIDE': (record) => describeClientLosses('Valkey GLIDE', record),
  Bun: (record) => describeClientLosses('Bun', record),
}

describe.each(Object.entries(STORES))('%s', (store, define) => define(recordFor(store)))
