import { SCENES } from './scenes.js'
import { brokenPromises, growthMb, type SoakOutcome, soak } from './soak.js'
import type { Scene } from './stage.js'

const STORES = ['redis', 'memcached', 'mariadb', 'postgres']

/** Soaks each store in turn, or only the named one. The minutes are the total. */
async function main(minutes: number, only: string | undefined): Promise<boolean> {
  const stores = STORES.filter((name) => only === undefined || name === only)
  if (!(minutes > 0) || stores.length === 0) throw new Error('npm run soak [-- <minutes> [<store>]]')
  console.log(HEAD)
  let isFine = true
  for (const name of stores) {
    const scene = SCENES.find(({ store }) => store === name) as Scene
    const outcome = await soak(scene, { seconds: (minutes * 60) / stores.length })
    console.log(rowOf(outcome))
    const broken = brokenPromises(outcome)
    for (const each of broken) console.log(`  BROKEN: ${each}`)
    isFine &&= broken.length === 0
  }
  return isFine
}

const HEAD =
  'store      seconds  faults  requests   local  admitted   charged   over  at most  under  at most  heap MB  growth MB'

function rowOf(outcome: SoakOutcome): string {
  const { store, seconds, faults, requests, bySource, admitted, charged, under, heapMb } = outcome
  const { outcomesUnknown, refundsUnknown } = outcome
  const cells: [string | number, number][] = [
    [Math.round(seconds), 7],
    [faults, 6],
    [requests, 8],
    [bySource.local ?? 0, 6],
    [admitted, 8],
    [charged, 8],
    [charged - admitted + under, 5],
    [outcomesUnknown + refundsUnknown, 7],
    [under, 5],
    [refundsUnknown, 7],
    [Math.max(...heapMb).toFixed(1), 7],
    [growthMb(heapMb).toFixed(1), 9],
  ]
  return [store.padEnd(9), ...cells.map(([cell, width]) => String(cell).padStart(width))].join('  ')
}

const [minutes = '10', store] = process.argv.slice(2)
main(Number(minutes), store).then(
  (isFine) => {
    process.exitCode = isFine ? 0 : 1
  },
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
