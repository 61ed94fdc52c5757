import { useEffect, useRef, useState } from "react";
import { Board } from "./Board.jsx";
import { ShiftForm } from "./ShiftForm.jsx";
import { countConflicts, csv, staff, week } from "./rota.js";
import { useRota } from "./useRota.js";

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export function App() {
  const { shifts, canUndo, dispatch } = useRota();
  const [shown, setShown] = useState("");
  const [edited, setEdited] = useState(null);
  const nextId = useRef(0);
  const clashes = countConflicts(shifts);

  useEffect(() => {
    const onKey = (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "z") {
        event.preventDefault();
        dispatch({ type: "undo" });
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [dispatch]);

  function save(values) {
    if (edited.id) {
      dispatch({ type: "change", id: edited.id, to: values });
    } else {
      nextId.current += 1;
      dispatch({ type: "add", shift: { id: `n${shifts.length}-${nextId.current}`, ...values } });
    }
    setEdited(null);
  }

  function download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(shifts)], { type: "text/csv" }));
    link.download = `rota-${week}.csv`;
    link.click();
  }

  return (
    <div className="page">
      <header className="head">
        <div>
          <p className="week">Week of 3 March 2025</p>
          <h1>Shift Planner</h1>
        </div>
        <div className="tools">
          <label>
            Show
            <select value={shown} onChange={(event) => setShown(event.target.value)}>
              <option value="">Everybody</option>
              {staff.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
            </select>
          </label>
          <button type="button" onClick={() => dispatch({ type: "undo" })} disabled={!canUndo}>Undo</button>
          <button type="button" onClick={download}>Export CSV</button>
          <button type="button" className="main" onClick={() => setEdited({ person: shown })}>Add shift</button>
        </div>
      </header>

      <div className="notes" role="status">
        <span className={clashes ? "note bad" : "note good"}>{clashes ? plural(clashes, "conflict") : "No conflicts"}</span>
      </div>

      <Board
        people={staff.filter(({ id }) => !shown || id === shown)}
        shifts={shifts}
        onMove={(id, to) => dispatch({ type: "change", id, to })}
        onOpen={setEdited}
      />
      <p className="help">Drag a shift to another day. Press it to change it.</p>

      {edited && <ShiftForm shift={edited} onSave={save} onCancel={() => setEdited(null)} />}
    </div>
  );
}
