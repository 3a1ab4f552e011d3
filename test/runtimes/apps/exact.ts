import { fixedWindow, rateLimit } from 'headgate/hono'
import { Hono } from 'hono'
import { store } from 'store-of-the-runtime'

const policy = fixedWindow({ limit: 1000, window: '1d', startsAt: 'first-request' })
const app = new Hono()

// Longer than a busy machine takes: a decision without the store would not be exact.
app.use(rateLimit({ name: 'exact', store, policy, key: () => 'everyone', timeout: '30s' }))
app.get('/', (c) => c.text('hello'))

export default app
