import { memcached } from './memcached-scenes.js'
import { redis } from './redis-scenes.js'
import { brokenPromises, soak } from './soak.js'
import { mariadb, postgres } from './sql-scenes.js'
import type { Scene } from './stage.js'

const SECONDS = 15
const RUN_TIMEOUT_MS = 120_000

test.each<[string, Scene]>([
  ['redis', redis],
  ['memcached', memcached],
  ['mariadb', mariadb],
  ['postgres', postgres],
])(
  'with a fault every few seconds, all that is let through is charged, once, and memory stays flat: %s',
  async (_name, scene) => {
    const outcome = await soak(scene, SECONDS)
    expect({ broken: brokenPromises(outcome), outcome }).toEqual({ broken: [], outcome })
    expect(outcome.bySource.local).toBeGreaterThan(0)
    expect(outcome.bySource.store).toBeGreaterThan(0)
  },
  RUN_TIMEOUT_MS,
)
