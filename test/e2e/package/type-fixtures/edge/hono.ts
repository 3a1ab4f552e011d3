import { memoryStore, rateLimit } from 'headgate/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(rateLimit({ limit: 100, window: '1m', store: memoryStore(), key: (c) => c.req.header('x-api-key') }))
app.get('/', (c) => c.text(`${c.get('rateLimit')?.remaining.toFixed()} left`))

export default app
