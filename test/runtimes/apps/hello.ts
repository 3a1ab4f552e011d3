import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.text(`Hello from ${process.env.PLACE}`))

export default app
