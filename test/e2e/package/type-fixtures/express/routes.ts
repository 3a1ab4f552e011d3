// What Express infers for a route's other handlers stays as it is without the middleware.
import express, { type ErrorRequestHandler } from 'express'
import { byIp, loginGuard, rateLimit } from 'headgate'

const limiter = rateLimit({ limit: 100, window: '1m', key: byIp() })
const guard = loginGuard({ field: 'username' })

const app = express()
app.get('/users/:id', limiter, (req, res) => {
  const id: string = req.params.id
  // @ts-expect-error: the route has no such parameter
  const wrong = req.params.name
  res.json({ id, wrong })
})
app.get('/users/:id', rateLimit({ limit: 2, window: '1s', skip: (req) => req.path === '/' }), (req, res) => {
  const id: string = req.params.id
  res.json({ id })
})
app.get('/users/:id', rateLimit({ limit: 2, window: '1s', key: (req) => req.params.id }), (req, res) => {
  const id: string = req.params.id
  res.json({ id })
})
app.post('/users/:user/posts/:post', limiter, guard, express.json(), (req, res) => {
  const { user, post }: { user: string; post: string } = req.params
  res.json({ user, post })
})
app.get(
  '/users/:id',
  (req, _res, next) => {
    const id: string = req.params.id
    next(id === '' ? 'route' : undefined)
  },
  rateLimit({ limit: 2, window: '1s', onDenied: (_req, res) => res.status(429).render('limited') }),
  (req, res) => {
    const id: string = req.params.id
    res.json({ id })
  },
)
app.get('/typed', limiter, (req: express.Request<object, { ok: boolean }, { name: string }>, res) => {
  const name: string = req.body.name
  // @ts-expect-error: the body of the response has another type
  res.json({ ok: name })
})

const router = express.Router({ mergeParams: true })
router.use(limiter)
router.all('/', limiter, (req, res) => {
  const remaining: number | undefined = req.rateLimit?.remaining
  // @ts-expect-error: the figures are numbers
  const wrong: string | undefined = req.rateLimit?.remaining
  res.set('x-remaining', String(remaining ?? wrong))
  // @ts-expect-error: only a request that passed a limiter has a decision
  res.json({ ok: req.rateLimit.allowed })
})
router
  .route('/items/:item')
  .all(limiter)
  .get(guard, (req, res) => void res.json(req.params.item))
app.use('/api', limiter, router)
app.use(['/a', /^\/b/], limiter, guard)

const onError: ErrorRequestHandler = (error, req, res, next) => {
  if (req.rateLimit?.allowed === false) next(error)
  else res.sendStatus(500)
}
app.use(onError)
app.use((error: Error, req: express.Request, res: express.Response, next: express.NextFunction) => {
  limiter(req, res, next)
  console.error(error)
})
