/** One process of the server that `cluster-primary.ts` starts, with the limit of the recipe in a file. */
import express, { type RequestHandler } from 'express'

const [file = ''] = process.argv.slice(2)
const { limit } = (await import(file)) as { limit: RequestHandler }

express()
  .use(limit)
  .get('/', (_req, res) => {
    res.send('hello\n')
  })
  .listen(0)
