import { startNative } from './native-clients.js'
import { describeRedisExactness } from './redis-exactness.js'

describe.each(['Bun', 'Valkey GLIDE'] as const)('%s alone', (client) => {
  // A batch of six shapes is six commands, and GLIDE sends no more than 1,000 at once.
  describeRedisExactness('all', { callers: 100 }, startNative([client]))
})
