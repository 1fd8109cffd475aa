import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Questions before you start","description":"","frontmatter":{},"headers":[],"relativePath":"guides/faq.md","filePath":"guides/faq.md"}');
const _sfc_main = { name: "guides/faq.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="questions-before-you-start" tabindex="-1">Questions before you start <a class="header-anchor" href="#questions-before-you-start" aria-label="Permalink to &quot;Questions before you start&quot;">​</a></h1><p>For a problem that you already have, see <a href="./troubleshooting">troubleshooting</a>.</p><p><strong>Do I need the owner&#39;s password?</strong> Once, for a sign-in by form. From then on, a refresh token keeps the account signed in. To avoid handling the password at all, <a href="./examples#sign-in-in-the-browser">sign in in the browser</a>.</p><p><strong>Is the password stored?</strong> Only in memory, while a sign-in waits for its passcode: for at most five minutes from <code>beginLogin</code> or a form on, and in a <code>login</code> until your <code>passcode</code> function answers. For several instances you can let it wait sealed, in the session (<code>pendingLoginKey</code>) or in the broker&#39;s store.</p><p><strong>How long does an access token last?</strong> Eight hours. By default, <code>getAccessToken</code> refreshes it in the background after about three quarters of that.</p><p><strong>How long does a refresh token last?</strong> The service doesn&#39;t say. Usually it works once, and each refresh brings the next one. An account that is in use usually stays signed in.</p><p><strong>Can two programs use one account?</strong> Yes, if they share a store: a <a href="./where-tokens-live">folder</a> on one machine, <a href="./many-instances">Redis</a> or PostgreSQL on several. Or if each signs in on its own. A <em>copy</em> of one store does not work.</p><p><strong>Why is my request not retried?</strong> The firewall blocks clients that repeat themselves, and a refresh token that is sent twice may end the session. So no request of a sign-in is repeated, and a refresh only if no answer accepted or refused its token. A call of the owner API is sent once more after a 401, if there is a new token and the body can be sent again.</p><p><strong>Does it work without Express?</strong> Yes. <code>@owner-sso/core</code> needs no framework, and the proxy is a plain <code>(req, res)</code> handler for <code>node:http</code>.</p><p><strong>Does it work in a browser, or at the edge?</strong> No. It has to choose the TLS version, keep cookies, and keep secrets.</p><p><strong>How do I sign somebody out?</strong> <code>tokens.forget(account)</code>. The service has no endpoint for signing out, so tokens that somebody copied earlier work until they expire.</p><p><strong>Is TLS 1.2 safe?</strong> Yes, with the cipher suites that Node offers. The service expects 1.2 or lower. If it has moved on, set <code>transport: &#39;modern&#39;</code>.</p><p><strong>What does it cost?</strong> A token from memory sends no request. A sign-in by form usually is three requests, seven with a second factor, and one more for a region.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guides/faq.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const faq = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  faq as default
};
