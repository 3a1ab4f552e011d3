import connect from 'connect'
import { rateLimit } from 'headgate/http'

const app = connect()
app.use(rateLimit({ limit: 5, window: '1h' }))
app.use((_req, res) => res.end('hello\n'))
app.listen(Number(process.env.PORT), '127.0.0.1')
