import { serve } from '@hono/node-server'
import app from 'app'

const [, , port] = process.argv
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' }, () => console.log('listening'))
