// A CommonJS module that passes on what it requires.
import headgate = require('headgate/http')
import expressRateLimit = require('headgate/express-rate-limit')
import nest = require('headgate/nest')

export const store: headgate.MemoryStore = headgate.memoryStore()
export const policy: headgate.Policy = headgate.tokenBucket({ capacity: 2, refill: 2, every: '1h' })
export const limiter: headgate.Limiter<string> = headgate.createLimiter({
  policy,
  store,
  key: (name) => name,
})
export const counts = new expressRateLimit.MemoryStore()
export { expressRateLimit, headgate, nest }
