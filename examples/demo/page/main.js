import './playground.js'
import './routes.js'
import './login.js'
