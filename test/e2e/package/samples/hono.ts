import { serve } from '@hono/node-server'
import { rateLimit } from 'headgate/hono'
import { Hono } from 'hono'

const app = new Hono()
app.use(rateLimit({ limit: 5, window: '1h' }))

app.get('/', (c) => c.text(`${c.get('rateLimit')?.remaining} left`))
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
