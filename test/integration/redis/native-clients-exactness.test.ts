import { startNative } from './native-clients.js'
import { describeRedisExactness } from './redis-exactness.js'

describe('Bun, Valkey GLIDE and ioredis', () => {
  const load = { processes: 3, callers: 100, charges: 5 }
  describeRedisExactness('sample', load, startNative(['Bun', 'Valkey GLIDE', 'ioredis']))
})
