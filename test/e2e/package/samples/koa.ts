import { rateLimit } from 'headgate/koa'
import Koa from 'koa'

const app = new Koa()
app.use(rateLimit({ limit: 5, window: '1h' }))

app.use((ctx) => {
  ctx.body = { remaining: ctx.rateLimit?.remaining }
})
app.listen(Number(process.env.PORT), '127.0.0.1')
