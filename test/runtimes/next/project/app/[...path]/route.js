import app from '../../app.mjs'

export const runtime = 'edge'
export const GET = (request) => app.fetch(request)
export const POST = GET
